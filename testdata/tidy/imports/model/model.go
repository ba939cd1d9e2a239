// Package model stands for the model: the layout of this fixture allows it to everyone.
package model
