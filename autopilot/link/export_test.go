package link

// Tests wait for no time before a connection is made again.
func init() { pause = 0 }
