terraform {
  required_providers {
    restapi = { source = "mastercard/restapi" }
  }
}

variable "token" {
  type      = string
  sensitive = true
}

locals {
  bench = jsondecode(file("${path.module}/bench.json"))
}

provider "restapi" {
  uri                  = local.bench.baseUrl
  headers              = { Authorization = "Bearer ${var.token}", "Content-Type" = "application/json" }
  id_attribute         = "uid"
  update_method        = "PATCH"
  write_returns_object = true
}

resource "restapi_object" "binding" {
  for_each     = { for index, binding in local.bench.bindings : "binding-${index}" => binding }
  path         = "/iam/v2/roleBindings"
  create_path  = "/iam/v2/roleBindings/${local.bench.parentUid}"
  read_path    = "/iam/v2/roleBindings/{id}"
  update_path  = "/iam/v2/roleBindings/{id}"
  destroy_path = "/iam/v2/roleBindings/{id}"
  data         = jsonencode(each.value)
}
