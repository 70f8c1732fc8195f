/** Mounts the page. Tokens and base styles come first, so that everything else can override them. */

import { render } from "preact";
import "./styles/tokens.css";
import "./styles/base.css";
import "./styles/forms.css";
import { App } from "./app";

const root = document.getElementById("page");
if (root) render(<App />, root);
