/** A storage of the browser, which may be forbidden or full. */
export interface PageStorage {
  readonly get: (key: string) => string | null;
  /** Stores a value, or removes it, if that is possible. */
  readonly set: (key: string, value: string | undefined) => void;
}

/** Lasts until the user clears it. */
export const lasting = guarded(() => localStorage);
/** Lasts as long as the tab. */
export const ofTab = guarded(() => sessionStorage);

function guarded(open: () => Storage): PageStorage {
  const attempt = <T>(use: (storage: Storage) => T): T | null => {
    try {
      return use(open());
    } catch {
      return null;
    }
  };
  return {
    get: (key) => attempt((storage) => storage.getItem(key)),
    set: (key, value) =>
      attempt((storage) =>
        value === undefined ? storage.removeItem(key) : storage.setItem(key, value),
      ),
  };
}
