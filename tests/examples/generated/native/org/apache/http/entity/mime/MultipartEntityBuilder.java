package org.apache.http.entity.mime;

public class MultipartEntityBuilder {}
