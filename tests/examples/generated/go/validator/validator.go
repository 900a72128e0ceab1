package validator

func Validate(any) error {
	return nil
}
