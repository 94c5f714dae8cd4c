import { render } from "preact";

import { App } from "./app";
import { start } from "./live";
import { follow as followAddress } from "./route";
import "./style.css";

const byLink = location.pathname.startsWith("/open/");
followAddress();
start();
const root = document.getElementById("app");
if (root) render(<App byLink={byLink} />, root);
