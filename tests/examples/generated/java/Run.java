import control.api.*;
import control.model.*;
import service.model.*;

public class Run {
  public static void main(String[] arguments) throws Exception {
    var key = System.getenv("KEY");
    var client = new control.ApiClient();
    var worlds = new WorldsApi(client);
    var clock = new OpenWorldRequestClock().mode(OpenWorldRequestClock.ModeEnum.MANUAL);
    var world = worlds.openWorld(new OpenWorldRequest().id(key).clock(clock));
    System.out.println("clock: " + world.getClock().getMode());

    var text = new service.model.Message().body("Hello").addToItem(new Recipient().phoneNumber("420777000101"));
    var sent = new service.api.SendingApi(Keyed.client(key)).sendMessage(text);
    var moved = new TimeApi(client).advance(key, new AdvanceRequest().by(new Duration("1m")));
    System.out.println("webhooks: " + moved.getDeliveries());
    var message = new MessagingApi(client).message(key, sent.getAccepted().get(0).getMessageId(), null);
    System.out.println(message.getPhone() + ": " + message.getResult());
    worlds.closeWorld(key);
  }
}
