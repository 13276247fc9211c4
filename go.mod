module canopy

go 1.26
