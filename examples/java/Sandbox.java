// A world of the sandbox for each test, and exploration, for JUnit 5; World.java and Json.java belong to it. Annotate a class
// with @ExtendWith(Sandbox.Extension.class); its tests then take a Sandbox. @Explore in place of @Test runs the test again and
// again, each time with other misfortunes.
import java.lang.annotation.*;
import java.lang.reflect.Method;
import java.nio.file.*;
import java.util.*;
import java.util.stream.*;
import org.junit.jupiter.api.TestTemplate;
import org.junit.jupiter.api.extension.*;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;
import org.junit.jupiter.api.parallel.*;

public final class Sandbox extends World implements ExtensionContext.Store.CloseableResource {
  Sandbox(String key) {
    super(key);
  }

  /** A test that is explored. It fails if a bug was found; questions are only shown. */
  @Target(ElementType.METHOD)
  @Retention(RetentionPolicy.RUNTIME)
  @TestTemplate
  @Execution(ExecutionMode.SAME_THREAD)
  public @interface Explore {
    int runs() default 0;

    String time() default "60s";

    /** Without one the usual families. */
    String[] families() default {};

    String[] keep() default {};
  }

  /** Opens a world for each test, adds its story to a failure, and explores. */
  public static final class Extension
      implements ParameterResolver, InvocationInterceptor, TestTemplateInvocationContextProvider {
    private static final Namespace HERE = Namespace.create(Sandbox.class);

    @Override
    public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
      return parameter.getParameter().getType() == Sandbox.class;
    }

    @Override
    public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
      var exploration = context.getStore(HERE).get("exploration", Exploration.class);
      if (exploration != null && exploration.run == null) return null; // its end: no test is run
      var prefix = exploration == null ? "test-" + UUID.randomUUID() + "-" : exploration.run.get("prefix");
      return context.getStore(HERE).getOrComputeIfAbsent("sandbox", name -> new Sandbox(prefix + "1"));
    }

    @Override
    public boolean supportsTestTemplate(ExtensionContext context) {
      return context.getRequiredTestMethod().isAnnotationPresent(Explore.class);
    }

    @Override
    public Stream<TestTemplateInvocationContext> provideTestTemplateInvocationContexts(ExtensionContext context) {
      var exploration = new Exploration(context.getRequiredTestMethod());
      context.getStore(HERE).put("exploration", exploration);
      return StreamSupport.stream(Spliterators.spliteratorUnknownSize(exploration, Spliterator.ORDERED), false);
    }

    @Override
    public void interceptBeforeEachMethod(
        Invocation<Void> phase, ReflectiveInvocationContext<Method> method, ExtensionContext context) throws Throwable {
      perform(phase, context);
    }

    @Override
    public void interceptAfterEachMethod(
        Invocation<Void> phase, ReflectiveInvocationContext<Method> method, ExtensionContext context) throws Throwable {
      perform(phase, context);
    }

    @Override
    public void interceptTestMethod(
        Invocation<Void> phase, ReflectiveInvocationContext<Method> method, ExtensionContext context) throws Throwable {
      perform(phase, context);
    }

    @Override
    public void interceptTestTemplateMethod(
        Invocation<Void> phase, ReflectiveInvocationContext<Method> method, ExtensionContext context) throws Throwable {
      var exploration = context.getStore(HERE).get("exploration", Exploration.class);
      perform(phase, context);
      if (exploration != null && exploration.run == null) exploration.report();
    }

    private void perform(Invocation<Void> phase, ExtensionContext context) throws Throwable {
      var exploration = context.getStore(HERE).get("exploration", Exploration.class);
      if (exploration != null && exploration.run == null) {
        phase.skip();
        return;
      }
      try {
        phase.proceed();
      } catch (Throwable error) {
        if (exploration != null && exploration.takes(error)) return;
        var sandbox = context.getStore(HERE).get("sandbox", Sandbox.class);
        if (sandbox != null) error.addSuppressed(new Story(sandbox.story()));
        throw error;
      }
    }
  }

  /** What happened in the world of a test, shown with its failure. */
  @SuppressWarnings("serial")
  static final class Story extends Exception {
    Story(String story) {
      super("in the sandbox:\n" + story, null, false, false);
    }
  }

  /** The runs of one test, each of which is an invocation of its template; the last invocation shows the finds. */
  static final class Exploration implements Iterator<TestTemplateInvocationContext> {
    private final Class<?> tests;
    private final String path;
    private Throwable failure;
    private boolean over;
    Map<String, Object> run;

    Exploration(Method method) {
      tests = method.getDeclaringClass();
      var settings = method.getAnnotation(Explore.class);
      var body = new HashMap<String, Object>();
      body.put("test", tests.getSimpleName() + "::" + method.getName());
      body.put("time", settings.time());
      if (settings.families().length > 0) body.put("families", List.of(settings.families()));
      body.put("keep", List.of(settings.keep()));
      if (settings.runs() > 0) body.put("runs", settings.runs());
      path = "/explorations/" + control("POST", "/explorations", body).get("id");
    }

    /** Whether a failure is one of the search; one of the first run is the test's own. */
    boolean takes(Throwable error) {
      failure = failure == null ? error : failure;
      return (Long) run.get("run") > 1;
    }

    @Override
    public boolean hasNext() {
      if (over) return false;
      if (run != null) control("POST", path + "/result", result());
      failure = null;
      run = control("POST", path + "/next", null);
      if (run.get("done").equals(true)) {
        run = null;
        over = true;
      }
      return true;
    }

    private Map<String, Object> result() {
      var number = run.get("run");
      if (failure == null) return Map.of("run", number, "result", "passed");
      if (failure instanceof Refused) return Map.of("run", number, "result", "unknown");
      var frames = Arrays.stream(failure.getStackTrace());
      var place = frames.filter(frame -> frame.getClassName().startsWith(tests.getName())).findFirst();
      var assertion = place.map(at -> at.getFileName() + ":" + at.getLineNumber()).orElse(failure.getClass().getName());
      return Map.of("run", number, "result", "failed", "message", failure.toString(), "assertion", assertion);
    }

    @Override
    public TestTemplateInvocationContext next() {
      var name = run == null ? "finds" : "run " + run.get("run") + ": " + run.get("misfortunes");
      return new TestTemplateInvocationContext() {
        @Override
        public String getDisplayName(int number) {
          return name;
        }
      };
    }

    /** Shows what was found, and keeps it in .sendbox/found. Throws an AssertionError if a bug is there. */
    void report() throws java.io.IOException {
      var exploration = control("GET", path, null);
      control("DELETE", path, null);
      var text = new StringBuilder();
      var bugs = 0;
      for (var item : (List<?>) exploration.get("finds")) {
        var find = (Map<?, ?>) item;
        if (find.get("kind").equals("bug")) bugs++;
        text.append(find.get("kind")).append(": ").append(find.get("message")).append("\n");
        ((List<?>) find.get("story")).forEach(line -> text.append(line).append("\n"));
        for (var scenario : (List<?>) find.get("scenarios")) {
          var file = Path.of(".sendbox", "found", (String) ((Map<?, ?>) scenario).get("name"));
          Files.createDirectories(file.getParent());
          Files.writeString(file, (String) ((Map<?, ?>) scenario).get("text"));
          text.append("scenario: ").append(file).append("\n");
        }
      }
      ((List<?>) exploration.get("words")).forEach(line -> text.append(line).append("\n"));
      if (bugs > 0) throw new AssertionError("explored, " + bugs + " found\n" + text);
      System.out.print(text);
    }
  }
}
