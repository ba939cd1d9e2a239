package inits

func init() {} // want "an init function"
