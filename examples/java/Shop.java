import com.sun.net.httpserver.*;
import java.io.IOException;
import java.net.*;
import java.net.http.*;
import java.time.*;
import java.util.*;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;

/** An application that sends notices, and shows what became of each. Its timer calls work. */
class Shop implements AutoCloseable {
  /** The results of a message, from the first to the furthest. */
  private static final List<String> RESULTS =
      List.of("sending", "sent", "undelivered", "rejected", "failed", "delivered", "seen");
  /** The time for which a call without an answer is left alone, before the shop asks for its message. */
  private static final Duration WAIT = Duration.ofSeconds(30);

  /** A notice: its state is queued, unsure (its call got no answer), taken or refused. */
  private static final class Notice {
    final String order, phone;
    String state = "queued", result = "";
    Instant due, tried;

    Notice(String order, String phone, Instant due) {
      this.order = order;
      this.phone = phone;
      this.due = due;
    }
  }

  private final HttpClient client =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).connectTimeout(Duration.ofSeconds(3)).build();
  private final Map<String, Notice> notices = new ConcurrentHashMap<>();
  private final Set<String> seen = ConcurrentHashMap.newKeySet();
  private final String origin, key;
  private final Supplier<Instant> now;
  private final HttpServer server;

  Shop(String origin, String key, Supplier<Instant> now) throws IOException {
    this.origin = origin;
    this.key = key;
    this.now = now;
    server = HttpServer.create(new InetSocketAddress("127.0.0.1", 0), 0);
    server.createContext("/webhooks", this::receive);
    server.start();
  }

  @Override
  public void close() {
    server.stop(0);
  }

  void send(String order, String phone) {
    notices.put(order, new Notice(order, phone, now.get()));
    work();
  }

  /** What became of a notice, by its furthest webhook; "" if none came. */
  String result(String order) {
    return notices.get(order).result;
  }

  /** Sends what is queued and due, and asks what became of calls without an answer. */
  void work() {
    for (var notice : notices.values()) {
      if (notice.due.isAfter(now.get())) continue;
      if (notice.state.equals("unsure")) ask(notice);
      else if (notice.state.equals("queued")) submit(notice);
    }
  }

  private void submit(Notice notice) {
    notice.tried = now.get();
    var message = Map.of(
        "to", List.of(Map.of("phone_number", notice.phone)),
        "body", body(notice),
        "payload", Map.of("order", notice.order),
        "callback", "http://127.0.0.1:" + server.getAddress().getPort() + "/webhooks");
    var answer = call("POST", "/v2/message", Json.write(message));
    if (answer == null || answer.statusCode() >= 500) {
      if (!notice.state.equals("taken")) notice.state = "unsure"; // a webhook may have come already
      notice.due = now.get().plus(WAIT);
    } else if (answer.statusCode() == 429) {
      notice.due = now.get().plusSeconds(answer.headers().firstValueAsLong("Retry-After").orElse(1));
    } else {
      var accepted = ((Map<?, ?>) Json.read(answer.body())).get("accepted");
      notice.state = accepted instanceof List<?> list && !list.isEmpty() ? "taken" : "refused";
    }
  }

  /** Looks for the message in the list of the service; it is sent again if it is not there. */
  private void ask(Notice notice) {
    for (var instant : List.of(notice.tried, now.get())) {
      var day = LocalDate.ofInstant(instant, ZoneOffset.UTC);
      var answer = call("GET", "/v1/messages?date=" + day + "&phone_number=" + notice.phone, "");
      if (answer == null || answer.statusCode() != 200) {
        notice.due = now.get().plus(WAIT);
        return;
      }
      for (var row : (List<?>) ((Map<?, ?>) Json.read(answer.body())).get("messages"))
        if (body(notice).equals(((Map<?, ?>) row).get("body"))) {
          notice.state = "taken";
          return;
        }
    }
    notice.state = "queued";
  }

  private static String body(Notice notice) {
    return "Order " + notice.order + " is on its way.";
  }

  /** The answer to a call; null if none came. */
  private HttpResponse<String> call(String method, String path, String body) {
    var request = HttpRequest.newBuilder(URI.create(origin + path))
        .timeout(Duration.ofSeconds(3))
        .header("x-api-key", key)
        .header("content-type", "application/json")
        .method(method, HttpRequest.BodyPublishers.ofString(body));
    try {
      return client.send(request.build(), HttpResponse.BodyHandlers.ofString());
    } catch (IOException | InterruptedException error) {
      return null;
    }
  }

  /** Takes a delivery of webhooks: once, whatever it has, and in any order. */
  private void receive(HttpExchange exchange) throws IOException {
    var events = (List<?>) Json.read(new String(exchange.getRequestBody().readAllBytes()));
    if (seen.add(exchange.getRequestHeaders().getFirst("X-Request-Id"))) events.forEach(event -> take((Map<?, ?>) event));
    exchange.sendResponseHeaders(200, -1);
    exchange.close();
  }

  void take(Map<?, ?> event) {
    if (!"outgoing".equals(event.get("type")) || !(event.get("payload") instanceof Map<?, ?> payload)) return;
    var notice = notices.get(payload.get("order"));
    if (notice == null) return;
    notice.state = "taken"; // also where the call got no answer
    var result = (String) event.get("result");
    if (RESULTS.indexOf(result) > RESULTS.indexOf(notice.result)) notice.result = result;
  }
}
