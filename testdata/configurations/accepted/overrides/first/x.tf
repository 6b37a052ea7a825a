resource "first_x" "y" {
}
