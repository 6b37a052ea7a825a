resource "a_b" "c" {
  provider = a.b.c
}
