# This file is maintained automatically by "terraform init".
# Manual edits may be lost in future updates.

provider "registry.terraform.io/acme/anvil" {
  version = "1.0.0"
  hashes = [
    "h1:/P8kyVNfS56jIAWp5ZLquC3jQhhzH/OQkRRPjbtXCQM=",
    "zh:b704ff9399dc4d3172f32a6b4c504cced51b87a46925c75c0c1dec9f7985f4f6",
    "zh:b7891683fc2f3085926e6faa96b925f9f2274dc8266a121a520c20bd6184d852",
    "zh:dab22f456826354e1aa12bdf368e198e60ce072c7f3e9b49c571bdc98c336ab4",
  ]
}

provider "registry.terraform.io/acme/bolt" {
  version = "1.0.0"
  hashes = [
    "h1:x4T+df9tsJiFqGfAx/RDWjzGZDLzGtZu6EJTXBNSdjo=",
    "zh:4de7a4e0b4220c9c89de4d894390a36687a975479637991e5f51e82fa3f2e8ca",
    "zh:c7ba59054060faaa96dc443d6585e94846143f40969f83441e13c58d9976a2c9",
    "zh:dba2329393cd40c62af1c11dcdfe82e30b64dc567e8e4838ec5c5d70c53f0d3e",
  ]
}

provider "registry.terraform.io/acme/crane" {
  version = "1.0.0"
  hashes = [
    "h1:ANrm2IA9bOezNUnDJqjuJbVRbed3lN2LDf8e9Qgx9JM=",
    "zh:a6f427253b7b7b026ac9c3cb90df3bd004020b330c18a238b762f9007b047ace",
    "zh:b9addd2a8cd5d5411a5aea4a5006c3e0d32cea8f7d8c06a4c1b16b06353c76a0",
    "zh:f1a124c49b47ff38a725ab5f85aced05c8cd42f4d306763d4f74bbe335e4d605",
  ]
}

provider "registry.terraform.io/acme/drill" {
  version = "1.0.0"
  hashes = [
    "h1:XhnKkAjYNWHeY+XdrycsOfaIB79ewkI3W1E8BW4db0Q=",
    "zh:4d9c1f00b3938ed46c66210a67d0352563078ded792bf033a6483841b45d6d57",
    "zh:6d66b2f4aa2131110f32c398cd51ae4eab5957531227ae2cc4f2de912ff8fa1e",
    "zh:f1db3f08f2ef40d205ab5d708eea5b137ae90ffff8bfd9c0ae15f353cf34d270",
  ]
}

provider "registry.terraform.io/example-with-a-long-name/provider-with-a-very-long-name" {
  version     = "10.20.30"
  constraints = "~> 10.20"
  hashes = [
    "h1:vKUg/PhdhlVbnT53+FuO/5l8mJthqA5rIpk0a/2GgSw=",
    "zh:cbe17a4ef4c0c3a7fd055d9370602bb824452393cbf1f5e57e36647417817a25",
    "zh:e1085c2603ec1d26ec34cddb58f84b0741ff6d5d2ca143f01790b0e57cc944f5",
    "zh:f455c39125ceee178df74c6c34bba8addee75864345c1f61449bf9021e35f9f8",
  ]
}
