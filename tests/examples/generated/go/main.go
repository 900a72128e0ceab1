package main

import (
	"context"
	"fmt"
	"os"

	"generated/control"
	"generated/service"
)

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func main() {
	key, ctx := os.Getenv("KEY"), context.Background()
	client := control.NewAPIClient(control.NewConfiguration())
	clock := control.NewOpenWorldRequestClock()
	clock.SetMode("manual")
	opening := control.NewOpenWorldRequest()
	opening.SetId(key)
	opening.SetClock(*clock)
	world, _, err := client.WorldsAPI.OpenWorld(ctx).OpenWorldRequest(*opening).Execute()
	fmt.Println("clock:", must(world, err).Clock.Mode)

	keys := map[string]service.APIKey{"x-api-key": {Key: key}}
	text := service.NewMessage([]service.Recipient{*service.NewRecipient("420777000101")})
	text.SetBody("Hello")
	sending := service.NewAPIClient(service.NewConfiguration()).SendingAPI
	sent, _, err := sending.SendMessage(context.WithValue(ctx, service.ContextAPIKeys, keys)).Message(*text).Execute()
	id := must(sent, err).Accepted[0].MessageId
	minute, move := "1m", control.NewAdvanceRequest()
	move.SetBy(control.Duration{String: &minute})
	moved, _, err := client.TimeAPI.Advance(ctx, key).AdvanceRequest(*move).Execute()
	fmt.Println("webhooks:", must(moved, err).Deliveries)
	message, _, err := client.MessagingAPI.Message(ctx, key, id).Execute()
	fmt.Printf("%s: %s\n", must(message, err).Phone, message.Result)
	closed, _, err := client.WorldsAPI.CloseWorld(ctx, key).Execute()
	must(closed, err)
}
