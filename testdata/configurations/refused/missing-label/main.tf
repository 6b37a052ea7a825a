resource "a_b" {
}
