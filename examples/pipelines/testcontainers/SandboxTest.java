// The sandbox by Testcontainers for Java (11 or newer). In JUnit, annotate the class, the container and the method.
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import org.testcontainers.containers.GenericContainer;
import org.testcontainers.containers.wait.strategy.Wait;

public class SandboxTest {
    static final String KEY = "test-java";
    static final HttpClient CLIENT = HttpClient.newHttpClient();

    static String call(String url, String body) throws Exception {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(url))
            .header("x-api-key", KEY)
            .header("content-type", "application/json");
        if (body != null) {
            request.POST(HttpRequest.BodyPublishers.ofString(body));
        }
        HttpResponse<String> answer = CLIENT.send(request.build(), HttpResponse.BodyHandlers.ofString());
        if (answer.statusCode() >= 400) {
            throw new AssertionError(answer.body());
        }
        return answer.body();
    }

    public static void main(String[] arguments) throws Exception {
        try (GenericContainer<?> container = new GenericContainer<>("registry.example/sendbox:1")
                .withExposedPorts(7357)
                .waitingFor(Wait.forHttp("/_sandbox/health").forPort(7357))) {
            container.start();
            String sandbox = "http://" + container.getHost() + ":" + container.getMappedPort(7357);
            String world = sandbox + "/_sandbox/worlds/" + KEY;
            call(sandbox + "/_sandbox/worlds", "{\"id\": \"" + KEY + "\", \"clock\": {\"mode\": \"manual\"}}");
            call(sandbox + "/v2/message", "{\"to\": [{\"phone_number\": \"420777000101\"}], \"body\": \"Hello\"}");
            call(world + "/clock/advance", "{\"by\": \"1m\"}");
            if (!call(world + "/hook", null).contains("\"result\":\"delivered\"")) {
                throw new AssertionError("the message was not delivered");
            }
        }
    }
}
