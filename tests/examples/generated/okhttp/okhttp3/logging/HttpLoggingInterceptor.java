package okhttp3.logging;

import java.io.IOException;
import okhttp3.Interceptor;
import okhttp3.Response;

public class HttpLoggingInterceptor implements Interceptor {
  public enum Level { BODY }

  public void setLevel(Level level) {}

  @Override
  public Response intercept(Chain chain) throws IOException {
    return chain.proceed(chain.request());
  }
}
