declare namespace NodeJS {
  interface ProcessEnv {
    /** Set by next.config.ts from LEASEHOLD_BASE_PATH, and put into the pages when they are built. */
    readonly NEXT_PUBLIC_BASE_PATH?: string;
  }
}
