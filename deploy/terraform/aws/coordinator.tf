# The coordinator: one machine on demand, whose ledger is on a volume that outlives it.

# Debian 12, whose C library is the one of the image. The newest each time; a running machine is not replaced for it.
data "aws_ssm_parameter" "debian" {
  name = "/aws/service/debian/release/12/latest/amd64"
}

resource "aws_ebs_volume" "ledger" {
  availability_zone = data.aws_subnet.coordinator.availability_zone
  size              = var.ledger_gib
  type              = "gp3"
  encrypted         = true
  final_snapshot    = var.keep_snapshot
  tags              = { Name = "${var.name}-ledger" }
}

resource "aws_instance" "coordinator" {
  ami                         = data.aws_ssm_parameter.debian.insecure_value
  instance_type               = var.coordinator_type
  subnet_id                   = data.aws_subnet.coordinator.id
  vpc_security_group_ids      = [aws_security_group.coordinator.id]
  iam_instance_profile        = aws_iam_instance_profile.coordinator.name
  user_data_replace_on_change = true
  user_data = templatefile("${path.module}/coordinator.yaml.tftpl", {
    unit    = base64encode(file("${path.module}/../../systemd/nonet-coordinator.service"))
    region  = var.region
    secrets = "/${var.name}/coordinator"
    program = "s3://${aws_s3_object.program.bucket}/${aws_s3_object.program.key}"
    volume  = "/dev/disk/by-id/nvme-Amazon_Elastic_Block_Store_${replace(aws_ebs_volume.ledger.id, "-", "")}"
  })
  metadata_options {
    http_tokens                 = "required"
    http_put_response_hop_limit = 1
  }
  root_block_device {
    volume_type = "gp3"
    volume_size = 8
    encrypted   = true
  }
  tags = { Name = "${var.name}-coordinator" }
  lifecycle {
    ignore_changes = [ami]
  }
}

resource "aws_volume_attachment" "ledger" {
  device_name                    = "/dev/sdf"
  volume_id                      = aws_ebs_volume.ledger.id
  instance_id                    = aws_instance.coordinator.id
  stop_instance_before_detaching = true
}
