resource "shared_x" "y" {
}
