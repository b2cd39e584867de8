import { showRememberedTheme } from "./theme.ts";
import { takeTokenFromAddress } from "./token.ts";

// A script of its own that the page waits for, and so a small one: when anything is drawn, the theme is
// set and the token gone from the address.
showRememberedTheme();
takeTokenFromAddress();
