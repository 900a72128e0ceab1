package jakarta.annotation;

public @interface Nonnull {}
