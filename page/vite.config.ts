import { defineConfig } from "vitest/config";

export default defineConfig({
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  build: {
    outDir: "../src/samekind/web/page",
    emptyOutDir: true,
    // Nothing is inlined: the page's policy allows its own files only.
    assetsInlineLimit: 0,
    target: "es2022",
  },
  // `npm run dev` beside a running `samekind serve`; the guard wants its own host name.
  server: { proxy: { "/api": { target: "http://127.0.0.1:8765", changeOrigin: true } } },
  // Style sheets are read by styles.test.ts; by default they would be empty. Contexts of one process
  // separate the files as well as processes do, for a third of the time.
  test: {
    environment: "happy-dom",
    include: ["tests/**/*.test.{ts,tsx}"],
    setupFiles: ["tests/setup.ts"],
    css: true,
    pool: "vmThreads",
  },
});
