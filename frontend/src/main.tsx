import { render } from "preact";

import { App } from "./app";
import { follow as followEvents } from "./live";
import { follow as followAddress } from "./route";
import "./style.css";

const byLink = location.pathname.startsWith("/open/");
followAddress();
followEvents();
const root = document.getElementById("app");
if (root) render(<App byLink={byLink} />, root);
