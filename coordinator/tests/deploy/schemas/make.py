#!/usr/bin/env python3
"""Makes the schemas in this folder anew from packages of PyPI and npm, which have been unpacked:

    pip download --no-deps kubernetes-validate==1.37.0 cdktf-cdktf-provider-aws==21.22.1; unzip each of them
    npm pack dclint@3.1.0; tar xzf dclint-*.tgz; in the cdktf package: tar xzf _jsii/*.tgz
    ./make.py KUBERNETES_VALIDATE_FOLDER DCLINT_FOLDER CDKTF_JSII_FOLDER

Only what the tests need is kept: names and types of what our manifests use, without descriptions. Where it comes from: the API of Kubernetes
(Apache-2.0), the Compose specification (Apache-2.0), and HashiCorp's provider for AWS (MPL-2.0), of which there are names alone.
"""
import json
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).parent

KUBERNETES = ["1.30.0", "1.37.0"]
KINDS = """
apps.v1.Deployment apps.v1.StatefulSet autoscaling.v2.HorizontalPodAutoscaler batch.v1.Job core.v1.ConfigMap core.v1.Namespace
core.v1.Secret core.v1.Service core.v1.ServiceAccount networking.v1.NetworkPolicy policy.v1.PodDisruptionBudget
""".split()

AWS = """
AutoscalingGroup EbsVolume IamInstanceProfile IamRole IamRolePolicy IamRolePolicyAttachment Instance LaunchTemplate S3Bucket
S3BucketLifecycleConfiguration S3BucketPublicAccessBlock S3Object SecurityGroup VolumeAttachment VpcSecurityGroupEgressRule
VpcSecurityGroupIngressRule DataAwsCallerIdentity DataAwsIamPolicyDocument DataAwsPartition DataAwsRegion DataAwsSsmParameter
DataAwsSubnet DataAwsSubnets DataAwsVpc
""".split()


def bare(schema, names=False):
    """Without descriptions. `names`: the keys are names of properties, and none is a description."""
    if isinstance(schema, list):
        return [bare(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    if names:
        return {key: bare(one) for key, one in schema.items()}
    named = ("properties", "patternProperties", "$defs", "definitions")
    drop = lambda key: key == "description" or key.startswith("x-kubernetes")
    return {key: bare(one, key in named) for key, one in schema.items() if not drop(key)}


def mentioned(schema):
    return set(re.findall(r'"#/\$defs/([^"]+)"', json.dumps(schema)))


def kubernetes(folder, version):
    file = f"kubernetes_validate/kubernetes-json-schema/v{version}-local-strict/_definitions.json"
    all_of_it = json.loads((folder / file).read_text())["$defs"]
    kept, todo = {}, {f"io.k8s.api.{kind}" for kind in KINDS}
    while todo:
        name = todo.pop()
        kept[name] = bare(all_of_it[name])
        # What the cluster writes is in no manifest.
        kept[name].get("properties", {}).pop("status", None)
        todo |= mentioned(kept[name]) - kept.keys()
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "$defs": kept}


def snake(name):
    return re.sub(r"(?<=[a-z0-9])([A-Z])", r"_\1", name).lower()


def aws(folder):
    types = json.loads((folder / "package/.jsii").read_text())["types"]
    by_name = {name.rsplit(".", 1)[1]: one for name, one in types.items()}

    def blocks(of):
        """The struct that a block of this type is, if it is one."""
        if of is None:
            return None
        if "union" in of:
            return next((found for one in of["union"]["types"] if (found := blocks(one))), None)
        if "collection" in of:
            return blocks(of["collection"]["elementtype"])
        fqn = of.get("fqn", "")
        return types[fqn] if fqn.startswith("@cdktf/") and types[fqn].get("datatype") else None

    def arguments(struct):
        found = {}
        for one in struct.get("properties", []):
            told = json.dumps(one["docs"])
            # The name in Terraform is told behind the link to its documentation.
            name = re.search(r"#([a-z0-9_]+) \w+#\1", told)
            if not name:
                continue
            inner = blocks(one.get("type"))
            found[name[1]] = {"required": not one.get("optional", False)}
            # An attribute that is a list of objects is no block, but its objects have these fields.
            if inner and inner is not struct:
                found[name[1]]["block"] = arguments(inner)
        return found

    def attributes(name):
        names = {snake(one["name"]) for one in by_name[name].get("properties", [])}
        # `x_input` is what the class was given for `x`, and no attribute of Terraform's.
        return sorted(one for one in names if one != "tf_resource_type" and one.removesuffix("_input") not in names - {one})

    made = {}
    for name in AWS:
        kind = ("data." if name.startswith("DataAws") else "") + "aws_" + snake(name.removeprefix("DataAws"))
        made[kind] = {"arguments": arguments(by_name[name + "Config"]), "attributes": attributes(name)}
    return made


def write(name, schema):
    (HERE / name).write_text(json.dumps(schema, sort_keys=True, separators=(",", ":")) + "\n")


def main():
    kubernetes_validate, dclint, cdktf = map(pathlib.Path, sys.argv[1:])
    for version in KUBERNETES:
        write(f"kubernetes-{version.rsplit('.', 1)[0]}.json", kubernetes(kubernetes_validate, version))
    compose = bare(json.loads((dclint / "package/schemas/compose.schema.json").read_text()))
    # By its proper name.
    compose["$schema"] = "http://json-schema.org/draft-07/schema#"
    write("compose.json", compose)
    write("aws-6.json", aws(cdktf))


main()
