output "coordinator_public_ip" {
  description = "Where people reach the coordinator: a line `IP nonet-coordinator` in /etc/hosts makes it the name in the certificate."
  value       = aws_instance.coordinator.public_ip
}

output "workers" {
  description = "The group, for `aws autoscaling set-desired-capacity --auto-scaling-group-name`."
  value       = aws_autoscaling_group.workers.name
}

output "parts" {
  description = "Where large results are, for `nonet result --parts`."
  value       = "s3://${aws_s3_bucket.farm.bucket}/parts"
}
