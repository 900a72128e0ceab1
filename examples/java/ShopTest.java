// Tests of Shop with Sandbox: a world for each test, and one test that is explored.
import static org.junit.jupiter.api.Assertions.*;

import java.time.Instant;
import java.util.*;
import org.junit.jupiter.api.*;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(Sandbox.Extension.class)
class ShopTest {
  private static final String JANA = "420777000101";
  private Shop shop;

  @BeforeEach
  void open(Sandbox sandbox) throws Exception {
    shop = new Shop(Sandbox.ORIGIN, sandbox.key, () -> Instant.parse((String) sandbox.get("clock").get("now")));
  }

  @AfterEach
  void close() {
    shop.close();
  }

  @Test
  void aReplyIsNoResult(Sandbox sandbox) {
    shop.send("A-1", JANA);
    sandbox.advance("1m");
    sandbox.phone(JANA, "reply", Map.of("body", "Thanks \"very\" much"));
    sandbox.advance("1m");
    assertEquals("delivered", shop.result("A-1"));
  }

  @Sandbox.Explore(runs = 30)
  void aNoticeIsSentOnceAndShownAsItIs(Sandbox sandbox) {
    shop.send("A-1", JANA);
    for (var minute = 0; minute < 10; minute++) {
      sandbox.advance("1m");
      shop.work();
    }
    var messages = (List<?>) sandbox.get("messages").get("messages");
    assertEquals(1, messages.size());
    assertEquals(hasArrived(((Map<?, ?>) messages.get(0)).get("result")), hasArrived(shop.result("A-1")));
  }

  private static boolean hasArrived(Object result) {
    return List.of("delivered", "seen").contains(result);
  }
}
