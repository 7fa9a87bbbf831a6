variable "name" {
  description = "Name of the farm, of all that is made for it, and of the folder of its secrets in the Parameter Store."
  type        = string
  default     = "nonet"
  validation {
    condition     = can(regex("^[a-z][a-z0-9-]{0,24}$", var.name))
    error_message = "Lower-case letters, digits and dashes, at most 25."
  }
}

variable "region" {
  description = "Where it runs."
  type        = string
  default     = "us-east-1"
}

variable "vpc_id" {
  description = "The network; null takes the region's default one. Its subnets must give machines public addresses, or have a way out of their own."
  type        = string
  default     = null
}

variable "program" {
  description = "The program: built for x86_64 on Debian 12, or what the image of deploy/Dockerfile has in /usr/local/bin."
  type        = string
  default     = "../../../target/dist/nonet"
}

variable "operator_cidrs" {
  description = "From where people may reach the coordinator, as [\"203.0.113.7/32\"]. Nobody, unless it is said."
  type        = list(string)
  default     = []
}

variable "coordinator_type" {
  description = "Machine of the coordinator, on demand."
  type        = string
  default     = "t3.small"
}

variable "ledger_gib" {
  description = "Size of the coordinator's volume."
  type        = number
  default     = 20
}

variable "workers" {
  description = "Spot machines to begin with. Afterwards `aws autoscaling set-desired-capacity` says how many."
  type        = number
  default     = 0
}

variable "workers_most" {
  description = "Spot machines at most: the limit of what this can cost."
  type        = number
  default     = 10
}

variable "worker_types" {
  description = "Machines that do for a worker, about equally large. The more there are, the less often all of them are taken away."
  type        = list(string)
  default     = ["c7a.4xlarge", "c7i.4xlarge", "c6a.4xlarge", "c6i.4xlarge", "m7i.4xlarge"]
}

variable "keep_snapshot" {
  description = "Whether `terraform destroy` keeps a snapshot of the ledger."
  type        = bool
  default     = true
}

variable "delete_parts" {
  description = "Whether `terraform destroy` may delete results that are in the bucket. Otherwise it stops there."
  type        = bool
  default     = false
}
