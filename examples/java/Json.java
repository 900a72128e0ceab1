import java.util.*;
import java.util.stream.Collectors;

/** JSON as maps, lists, texts, numbers, flags and null. */
final class Json {
  private final String text;
  private int at;

  private Json(String text) {
    this.text = text;
  }

  static Object read(String text) {
    return new Json(text).value();
  }

  static String write(Object value) {
    if (value instanceof Map<?, ?> map)
      return map.entrySet().stream()
          .map(entry -> write(entry.getKey()) + ":" + write(entry.getValue()))
          .collect(Collectors.joining(",", "{", "}"));
    if (value instanceof List<?> list) return list.stream().map(Json::write).collect(Collectors.joining(",", "[", "]"));
    if (!(value instanceof String)) return String.valueOf(value);
    var written = new StringBuilder("\"");
    for (var letter : ((String) value).toCharArray())
      written.append(letter < ' ' || letter == '"' || letter == '\\' ? String.format("\\u%04x", (int) letter) : letter);
    return written + "\"";
  }

  private char next() {
    while (Character.isWhitespace(text.charAt(at)) || text.charAt(at) == ',' || text.charAt(at) == ':') at++;
    return text.charAt(at);
  }

  private Object value() {
    var first = next();
    if (first == '"') return string();
    if (first == '{') {
      var map = new LinkedHashMap<String, Object>();
      for (at++; next() != '}'; ) map.put(string(), value());
      at++;
      return map;
    }
    if (first == '[') {
      var list = new ArrayList<>();
      for (at++; next() != ']'; ) list.add(value());
      at++;
      return list;
    }
    var begin = at;
    while (at < text.length() && ",]}".indexOf(text.charAt(at)) < 0) at++;
    var word = text.substring(begin, at).trim();
    return switch (word) {
      case "null" -> null;
      case "true", "false" -> Boolean.valueOf(word);
      default -> word.matches("-?\\d+") ? (Object) Long.valueOf(word) : (Object) Double.valueOf(word);
    };
  }

  private String string() {
    var read = new StringBuilder();
    for (at++; text.charAt(at) != '"'; at++) {
      var letter = text.charAt(at);
      if (letter == '\\') {
        letter = text.charAt(++at);
        if (letter == 'u') {
          letter = (char) Integer.parseInt(text.substring(at + 1, at + 5), 16);
          at += 4;
        } else {
          var place = "bfnrt".indexOf(letter);
          letter = place < 0 ? letter : "\b\f\n\r\t".charAt(place);
        }
      }
      read.append(letter);
    }
    at++;
    return read.toString();
  }
}
