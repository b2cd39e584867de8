/** Variables for every program: paths, locale, certificates, and switches of this runtime. */
const COMMON =
  /^(PATH|HOME|TMPDIR|LANG|LC_\w+|TZ|SSL_CERT_(FILE|DIR)|NODE_(ENV|EXTRA_CA_CERTS)|UV_THREADPOOL_SIZE|GOGC|GOMAXPROCS|(NO|FORCE)_COLOR)$/;
/**
 * Variables for npm: its settings, its registry's token, which `.npmrc` takes from the environment, and proxies.
 */
const OF_NPM = /^(npm_config_.*|NPM_TOKEN|NODE_AUTH_TOKEN|(https?|no|all)_proxy)$/i;

let given: NodeJS.ProcessEnv | undefined;

/**
 * Returns the environment of the host, and removes from `process.env` everything but the common variables:
 * programs started from now on, such as esbuild's service, inherit no secret. Call it once,
 * before anything is started.
 */
export function takeEnvironment(): NodeJS.ProcessEnv {
  given = { ...process.env };
  for (const name of Object.keys(process.env)) if (!COMMON.test(name)) delete process.env[name];
  return given;
}

/** The environment for npm. */
export function environmentOfNpm(): NodeJS.ProcessEnv {
  const needed = Object.entries(given ?? process.env).filter(
    ([name]) => COMMON.test(name) || OF_NPM.test(name),
  );
  return Object.fromEntries(needed);
}
