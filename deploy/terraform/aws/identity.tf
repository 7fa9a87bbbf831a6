# What machines may: read their own secrets and the program, and workers read and write parts. Nothing else.

data "aws_caller_identity" "me" {}

data "aws_partition" "here" {}

locals {
  secrets = "arn:${data.aws_partition.here.partition}:ssm:${var.region}:${data.aws_caller_identity.me.account_id}:parameter/${var.name}"
}

data "aws_iam_policy_document" "machine" {
  statement {
    actions = ["sts:AssumeRole"]
    principals {
      type        = "Service"
      identifiers = ["ec2.amazonaws.com"]
    }
  }
}

data "aws_iam_policy_document" "coordinator" {
  statement {
    sid       = "Secrets"
    actions   = ["ssm:GetParameter"]
    resources = ["${local.secrets}/coordinator/*"]
  }
  statement {
    sid       = "Program"
    actions   = ["s3:GetObject"]
    resources = ["${aws_s3_bucket.farm.arn}/bin/*"]
  }
}

data "aws_iam_policy_document" "worker" {
  statement {
    sid       = "Secrets"
    actions   = ["ssm:GetParameter"]
    resources = ["${local.secrets}/worker/*"]
  }
  statement {
    sid       = "Program"
    actions   = ["s3:GetObject"]
    resources = ["${aws_s3_bucket.farm.arn}/bin/*"]
  }
  # Nothing is ever deleted, but for pieces of an upload that failed.
  statement {
    sid       = "Parts"
    actions   = ["s3:GetObject", "s3:PutObject", "s3:AbortMultipartUpload"]
    resources = ["${aws_s3_bucket.farm.arn}/parts/*"]
  }
  statement {
    sid       = "Lists"
    actions   = ["s3:ListBucket"]
    resources = [aws_s3_bucket.farm.arn]
    condition {
      test     = "StringLike"
      variable = "s3:prefix"
      values   = ["parts", "parts/*"]
    }
  }
}

resource "aws_iam_role" "coordinator" {
  name_prefix        = "${var.name}-coordinator-"
  assume_role_policy = data.aws_iam_policy_document.machine.json
}

resource "aws_iam_role_policy" "coordinator" {
  name   = "coordinator"
  role   = aws_iam_role.coordinator.id
  policy = data.aws_iam_policy_document.coordinator.json
}

resource "aws_iam_instance_profile" "coordinator" {
  name_prefix = "${var.name}-coordinator-"
  role        = aws_iam_role.coordinator.name
}

resource "aws_iam_role" "worker" {
  name_prefix        = "${var.name}-worker-"
  assume_role_policy = data.aws_iam_policy_document.machine.json
}

resource "aws_iam_role_policy" "worker" {
  name   = "worker"
  role   = aws_iam_role.worker.id
  policy = data.aws_iam_policy_document.worker.json
}

resource "aws_iam_instance_profile" "worker" {
  name_prefix = "${var.name}-worker-"
  role        = aws_iam_role.worker.name
}
