// A world of the sandbox, for Java 17 or newer; with Json.java it is complete. SANDBOX is the origin of a sandbox.
import java.net.*;
import java.net.http.*;
import java.nio.charset.StandardCharsets;
import java.util.*;
import java.util.stream.Collectors;

public class World implements AutoCloseable {
  public static final String ORIGIN = Optional.ofNullable(System.getenv("SANDBOX")).orElse("http://127.0.0.1:7357");
  private static final HttpClient CLIENT = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

  /** What the client sends as x-api-key. */
  public final String key;

  /** Opens a world with a clock that stands still, and a key of its own. */
  public World() {
    this("test-" + UUID.randomUUID());
  }

  public World(String key) {
    this.key = key;
    control("POST", "/worlds", Map.of("id", key, "clock", Map.of("mode", "manual")));
  }

  /** Moves the clock, by a duration such as 1m. */
  public void advance(String by) {
    control("POST", "/worlds/" + key + "/clock/advance", Map.of("by", by));
  }

  /** Sends a message as a client does, with the key of the world. */
  public void send(String body, String... numbers) {
    var to = Arrays.stream(numbers).map(number -> Map.of("phone_number", number)).toList();
    call(key, "POST", "/v2/message", Map.of("body", body, "to", to));
  }

  /** Sends a code to a phone, as a client does. */
  public void startValidation(String number) {
    call(key, "POST", "/v1/validations", Map.of("phoneNumber", number));
  }

  /** The newest message to a phone; waits 5 s for one. Throws NoSuchElementException without one. */
  public Map<?, ?> message(String number) {
    var messages = (List<?>) get("messages?last=1&wait=5s&phone=" + encoded(number)).get("messages");
    if (messages.isEmpty()) throw new NoSuchElementException("no message was sent to " + number);
    return (Map<?, ?>) messages.get(0);
  }

  /** The codes that were sent to a phone, newest first; waits 5 s for one. */
  public List<String> codes(String number) {
    var codes = (List<?>) get("codes?wait=5s&phone=" + encoded(number)).get("codes");
    return codes.stream().map(code -> (String) ((Map<?, ?>) code).get("code")).toList();
  }

  /** Reads the world: messages, webhooks of the built-in receiver (hook), clock, and all else that control has. */
  public Map<String, Object> get(String what) {
    return control("GET", "/worlds/" + key + "/" + what, null);
  }

  /** Acts as a phone: ("420777000101", "reply", Map.of("body", "Yes")). */
  public Map<String, Object> phone(String number, String act, Map<String, ?> body) {
    return control("POST", "/worlds/" + key + "/phones/" + number + "/" + act, body);
  }

  @Override
  public void close() {
    control("DELETE", "/worlds/" + key, null);
  }

  /** The end of what happened, in lines. */
  public String story() {
    var story = (Map<?, ?>) get("report?lines=40").get("story");
    var lines = ((List<?>) story.get("lines")).stream().map(line -> (Map<?, ?>) line);
    return lines.map(line -> "  " + line.get("at") + "  " + line.get("text")).collect(Collectors.joining("\n"));
  }

  /** Why the sandbox refused a request. */
  @SuppressWarnings("serial")
  public static final class Refused extends RuntimeException {
    Refused(Object message) {
      super(String.valueOf(message));
    }
  }

  static Map<String, Object> control(String method, String path, Object body) {
    return call("", method, "/_sandbox" + path, body);
  }

  @SuppressWarnings("unchecked")
  private static Map<String, Object> call(String key, String method, String path, Object body) {
    var content = body == null ? "" : Json.write(body);
    var request = HttpRequest.newBuilder(URI.create(ORIGIN + path))
        .header("content-type", "application/json")
        .method(method, HttpRequest.BodyPublishers.ofString(content));
    if (!key.isEmpty()) request.header("x-api-key", key);
    try {
      var answer = CLIENT.send(request.build(), HttpResponse.BodyHandlers.ofString());
      var value = (Map<String, Object>) Json.read(answer.body());
      if (answer.statusCode() >= 400) throw new Refused(value.getOrDefault("message", value.get("Message")));
      return value;
    } catch (java.io.IOException | InterruptedException error) {
      throw new IllegalStateException("the sandbox at " + ORIGIN + " does not answer", error);
    }
  }

  private static String encoded(String number) {
    return URLEncoder.encode(number, StandardCharsets.UTF_8);
  }
}
