# The workers: spot machines of several types, as many as are asked for, and none that has nothing to do with it.

resource "aws_launch_template" "worker" {
  name_prefix            = "${var.name}-worker-"
  image_id               = data.aws_ssm_parameter.debian.insecure_value
  instance_type          = var.worker_types[0]
  vpc_security_group_ids = [aws_security_group.worker.id]
  update_default_version = true
  # A worker that has ended powers its machine off, and then the machine is gone: nobody pays for one that computes nothing.
  instance_initiated_shutdown_behavior = "terminate"
  user_data = base64encode(templatefile("${path.module}/worker.yaml.tftpl", {
    unit        = base64encode(file("${path.module}/../../systemd/nonet-worker.service"))
    region      = var.region
    secrets     = "/${var.name}/worker"
    program     = "s3://${aws_s3_object.program.bucket}/${aws_s3_object.program.key}"
    parts       = "s3://${aws_s3_bucket.farm.bucket}/parts"
    coordinator = aws_instance.coordinator.private_ip
  }))
  iam_instance_profile {
    name = aws_iam_instance_profile.worker.name
  }
  metadata_options {
    http_tokens                 = "required"
    http_put_response_hop_limit = 1
  }
  block_device_mappings {
    device_name = "/dev/xvda"
    ebs {
      volume_type           = "gp3"
      volume_size           = 10
      encrypted             = true
      delete_on_termination = true
    }
  }
  tag_specifications {
    resource_type = "instance"
    tags          = { Name = "${var.name}-worker", farm = var.name }
  }
}

resource "aws_autoscaling_group" "workers" {
  name_prefix         = "${var.name}-workers-"
  vpc_zone_identifier = data.aws_subnets.here.ids
  min_size            = 0
  max_size            = var.workers_most
  desired_capacity    = var.workers
  # A machine whose loss is likely is replaced before it is taken away.
  capacity_rebalance = true
  # Spot machines come when there are some.
  wait_for_capacity_timeout = "0"
  mixed_instances_policy {
    instances_distribution {
      on_demand_base_capacity                  = 0
      on_demand_percentage_above_base_capacity = 0
      spot_allocation_strategy                 = "price-capacity-optimized"
    }
    launch_template {
      launch_template_specification {
        launch_template_id = aws_launch_template.worker.id
        version            = aws_launch_template.worker.latest_version
      }
      dynamic "override" {
        for_each = var.worker_types
        content {
          instance_type = override.value
        }
      }
    }
  }
  # Another program or another coordinator: half of them at a time.
  instance_refresh {
    strategy = "Rolling"
    preferences {
      min_healthy_percentage = 50
    }
  }
  lifecycle {
    ignore_changes = [desired_capacity]
  }
}
