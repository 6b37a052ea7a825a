locals {
  a = "b
c"
}
