# Who may speak to whom. Machines get updates and secrets over HTTP and HTTPS, and nobody can reach the workers.

data "aws_vpc" "here" {
  id      = var.vpc_id
  default = var.vpc_id == null ? true : null
}

data "aws_subnets" "here" {
  filter {
    name   = "vpc-id"
    values = [data.aws_vpc.here.id]
  }
}

# Where coordinator and ledger are: a volume stays in its zone.
data "aws_subnet" "coordinator" {
  id = sort(data.aws_subnets.here.ids)[0]
}

resource "aws_security_group" "coordinator" {
  name        = "${var.name}-coordinator"
  description = "The coordinator of ${var.name}"
  vpc_id      = data.aws_vpc.here.id
}

resource "aws_security_group" "worker" {
  name        = "${var.name}-worker"
  description = "The workers of ${var.name}"
  vpc_id      = data.aws_vpc.here.id
}

resource "aws_vpc_security_group_ingress_rule" "workers" {
  security_group_id            = aws_security_group.coordinator.id
  description                  = "Workers"
  referenced_security_group_id = aws_security_group.worker.id
  ip_protocol                  = "tcp"
  from_port                    = 7700
  to_port                      = 7700
}

resource "aws_vpc_security_group_ingress_rule" "operators" {
  for_each          = { for rule in setproduct(var.operator_cidrs, [7700, 7780]) : "${rule[0]} ${rule[1]}" => rule }
  security_group_id = aws_security_group.coordinator.id
  description       = "People: gRPC and the page"
  cidr_ipv4         = each.value[0]
  ip_protocol       = "tcp"
  from_port         = each.value[1]
  to_port           = each.value[1]
}

resource "aws_vpc_security_group_egress_rule" "to_coordinator" {
  security_group_id            = aws_security_group.worker.id
  description                  = "The coordinator"
  referenced_security_group_id = aws_security_group.coordinator.id
  ip_protocol                  = "tcp"
  from_port                    = 7700
  to_port                      = 7700
}

resource "aws_vpc_security_group_egress_rule" "outside" {
  for_each = {
    for rule in setproduct(["coordinator", "worker"], [80, 443]) : "${rule[0]} ${rule[1]}" => rule
  }
  security_group_id = each.value[0] == "worker" ? aws_security_group.worker.id : aws_security_group.coordinator.id
  description       = "Packages of Debian, the Parameter Store, the bucket"
  cidr_ipv4         = "0.0.0.0/0"
  ip_protocol       = "tcp"
  from_port         = each.value[1]
  to_port           = each.value[1]
}
