class Keyed {
  static service.ApiClient client(String key) {
    return new service.ApiClient().setRequestInterceptor(request -> request.header("x-api-key", key));
  }
}
