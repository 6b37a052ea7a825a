module "empty" {
  source = "./empty"
}
