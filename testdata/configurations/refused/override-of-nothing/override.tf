resource "a_b" "d" {
}
