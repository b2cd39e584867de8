// Run by a process that began with a snapshot (host/start-snapshot.ts): only code that Node's own loader has read can
// import there.
import("./launch.js");
