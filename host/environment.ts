/** For every program: where things are, how to speak, whom to trust; and the switches of this runtime. */
const COMMON =
  /^(PATH|HOME|TMPDIR|LANG|LC_\w+|TZ|SSL_CERT_(FILE|DIR)|NODE_(ENV|EXTRA_CA_CERTS|V8_COVERAGE)|UV_THREADPOOL_SIZE|GOGC|GOMAXPROCS|(NO|FORCE)_COLOR)$/;
/** npm's own settings, its registry's token, which `.npmrc` takes from the environment, and proxies. */
const OF_NPM = /^(npm_config_.*|NPM_TOKEN|NODE_AUTH_TOKEN|(https?|no|all)_proxy)$/i;

let given: NodeJS.ProcessEnv | undefined;

/**
 * Gives what the host was started with, and leaves in `process.env` what any program may know: whatever
 * is started from now on, such as esbuild's service, inherits no secret of the house. Call it once,
 * before anything is started.
 */
export function takeEnvironment(): NodeJS.ProcessEnv {
  given = { ...process.env };
  for (const name of Object.keys(process.env)) if (!COMMON.test(name)) delete process.env[name];
  return given;
}

/** What npm is started with. */
export function environmentOfNpm(): NodeJS.ProcessEnv {
  const needed = Object.entries(given ?? process.env).filter(
    ([name]) => COMMON.test(name) || OF_NPM.test(name),
  );
  return Object.fromEntries(needed);
}
