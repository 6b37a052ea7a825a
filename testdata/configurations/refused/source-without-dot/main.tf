module "a" {
  source = "a"
}
