import 'vitest';

declare module 'vitest' {
  export interface ProvidedContext {
    /** The newest etcd that can be had here, as `http://host:port`. */
    readonly etcd: string;
    /** An etcd 3.4; undefined where none can be had. */
    readonly etcd34: string | undefined;
  }
}
