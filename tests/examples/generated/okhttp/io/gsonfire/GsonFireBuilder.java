package io.gsonfire;

import com.google.gson.GsonBuilder;

public class GsonFireBuilder {
  public <T> GsonFireBuilder registerTypeSelector(Class<T> type, TypeSelector<T> selector) {
    return this;
  }

  public GsonBuilder createGsonBuilder() {
    return new GsonBuilder();
  }
}
