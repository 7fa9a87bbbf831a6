# The program, for machines that start, and large results.

resource "aws_s3_bucket" "farm" {
  bucket_prefix = "${var.name}-"
  force_destroy = var.delete_parts
}

resource "aws_s3_bucket_public_access_block" "farm" {
  bucket                  = aws_s3_bucket.farm.id
  block_public_acls       = true
  block_public_policy     = true
  ignore_public_acls      = true
  restrict_public_buckets = true
}

# Workers that are lost while they upload leave pieces behind, which nobody sees and everybody pays for.
resource "aws_s3_bucket_lifecycle_configuration" "farm" {
  bucket = aws_s3_bucket.farm.id
  rule {
    id     = "abort-incomplete-uploads"
    status = "Enabled"
    filter {}
    abort_incomplete_multipart_upload {
      days_after_initiation = 2
    }
  }
}

# Named by its content: another program makes other machines.
resource "aws_s3_object" "program" {
  bucket = aws_s3_bucket.farm.id
  key    = "bin/nonet-${filesha256(var.program)}"
  source = var.program
}
