import { defineConfig } from "vite";

export default defineConfig({
  base: "/",
  // A checkout may carry a .env of its own; what is built must not depend on it.
  envDir: false,
  build: {
    outDir: "../src/homeport/console/static",
    emptyOutDir: true,
    target: "es2022",
    modulePreload: false,
    // Files, never data: addresses: the content policy is 'self' and nothing else.
    assetsInlineLimit: 0,
    reportCompressedSize: true,
  },
  server: {
    // `npm run dev` beside a running gateway.
    proxy: { "/api": "http://127.0.0.1:7333", "/open": "http://127.0.0.1:7333" },
  },
});
