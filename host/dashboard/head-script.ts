import { takeLinkFromAddress } from "./link.ts";
import { showRememberedTheme } from "./theme.ts";

// The page waits for this script, so it is small. It sets the theme and removes the token from the
// address before anything is drawn.
showRememberedTheme();
takeLinkFromAddress();
