package defects

// All lists the defects, by kind.
func All() []*Defect {
	return []*Defect{
		&commitOnRead,
	}
}
