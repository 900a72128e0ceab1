class Keyed {
  static service.ApiClient client(String key) {
    var client = new service.ApiClient();
    ((service.auth.ApiKeyAuth) client.getAuthentication("x-api-key")).setApiKey(key);
    return client;
  }
}
