// What a reader does with the page: tables that sort and filter, and the picture that is zoomed and searched. Without
// this the page says the same: tables are whole, and a picture drawn beforehand stands in this one's place.
(() => {
  "use strict";
  const find = (what, at = document) => at.querySelector(what);
  const all = (what, at = document) => [...at.querySelectorAll(what)];
  const make = (name, attributes = {}, ...inside) => {
    const element = document.createElement(name);
    for (const key in attributes) element.setAttribute(key, attributes[key]);
    element.append(...inside);
    return element;
  };
  const size = bytes => {
    if (bytes < 1024) return bytes + " B";
    let unit = -1;
    do { bytes /= 1024; ++unit; } while (bytes >= 1023.95 && unit < 4);
    return bytes.toFixed(1) + " " + ["KiB", "MiB", "GiB", "TiB", "PiB"][unit];
  };
  const percent = share => share > 0 && share < 0.001 ? "< 0.1 %" : (100 * share).toFixed(1) + " %";

  // --- tables

  // A row whose first cell is empty goes on with the row above it.
  const groupsOf = rows => {
    const groups = [];
    for (const row of rows)
      if (groups.length && row.cells[0].textContent === "") groups[groups.length - 1].push(row);
      else groups.push([row]);
    return groups;
  };

  const sortTable = (table, column, heading) => {
    const down = heading.getAttribute("aria-sort") !== "descending";
    const body = table.tBodies[0];
    const key = row => {
      const cell = row.cells[column];
      return cell.dataset.v === undefined ? cell.textContent.toLowerCase() : Number(cell.dataset.v);
    };
    const rows = groupsOf(body.rows).map((group, i) => [key(group[0]), i, group]);
    rows.sort((a, b) => {
      const [x, y] = [a[0], b[0]];
      const order = typeof x === "number" && typeof y === "number" ? x - y
        : typeof x === "number" ? 1 : typeof y === "number" ? -1 : x < y ? -1 : x > y ? 1 : 0;
      return (down ? -order : order) || a[1] - b[1];
    });
    all("th", table.tHead).forEach(other => other.removeAttribute("aria-sort"));
    heading.setAttribute("aria-sort", down ? "descending" : "ascending");
    body.append(...rows.flatMap(row => row[2]));
  };

  for (const table of all("table.sorts"))
    for (const heading of all("th", table.tHead)) {
      const button = make("button", {type: "button"}, ...heading.childNodes);
      heading.replaceChildren(button);
      button.addEventListener("click", () => sortTable(table, heading.cellIndex, heading));
    }

  for (const table of all("table.filters")) {
    const groups = groupsOf(table.tBodies[0].rows);
    const input = make("input", {type: "search", "aria-label": "Filter: " + table.caption.textContent});
    const count = make("span", {role: "status"});
    table.parentElement.before(make("label", {class: "filter"}, "Filter", input, " ", count));
    input.addEventListener("input", () => {
      const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
      let shown = 0;
      for (const group of groups) {
        const text = group.map(row => row.textContent).join(" ").toLowerCase();
        const fits = words.every(word => text.includes(word));
        for (const row of group) row.hidden = !fits;
        shown += fits;
      }
      count.textContent = words.length ? shown + " of " + groups.length + " rows" : "";
    });
  }

  // --- the picture

  const box = find("#picture");
  if (!box) return;
  const trees = JSON.parse(find("#areas").textContent);
  const kinds = ["program", "package", "python", "thread", "native", "garbage", "shared", "held"];
  const link = (node, above, kind) => {
    node.up = above;
    node.kind = node.k === undefined ? kind : kinds[node.k];
    for (const child of node.c || []) link(child, node, node.kind);
  };
  for (const name in trees) link(trees[name], null, "shared");

  const shown = {tree: "objects", view: "treemap", zoom: trees.objects, focus: null, hits: new Set()};
  const names = node => {
    const way = [];
    for (let at = node; at; at = at.up) way.unshift(at);
    return way;
  };

  const tools = make("div", {class: "tools", role: "group", "aria-label": "Picture"});
  const choice = (label, options, chosen) => {
    const select = make("select", {"aria-label": label});
    for (const [value, words] of options) select.append(make("option", {value}, words));
    select.addEventListener("change", () => chosen(select.value));
    tools.append(select);
    return select;
  };
  choice("Shape", [["treemap", "Treemap"], ["icicle", "Icicle"]], value => { shown.view = value; draw(); });
  choice("What the areas are", [["objects", "single objects"], ["types", "types together"]], value => {
    shown.tree = value;
    shown.zoom = trees[value];
    shown.focus = null;
    search();
  });
  const words = make("input", {type: "search", id: "search", placeholder: "type, module, name", "aria-label": "Search the picture"});
  const found = make("span", {role: "status"});
  const out = make("button", {type: "button", id: "out"}, "Zoom out");
  tools.append(words, out, found);
  const hits = make("ol", {class: "hits"});
  const crumbs = make("div", {class: "crumbs", "aria-label": "Zoomed to"});
  const about = make("div", {class: "about", role: "status", id: "about"});
  box.before(tools, hits, crumbs);
  box.after(about);

  const share = node => percent(node.v / (trees[shown.tree].v || 1));
  const tell = node => {
    about.replaceChildren();
    if (!node) {
      about.append("Click an area, or press Enter on it, to zoom; Esc zooms out; the arrow keys go from one to the next.");
      return;
    }
    const own = node.v - (node.c || []).reduce((sum, child) => sum + child.v, 0);
    about.append(make("b", {}, node.n), "  " + size(node.v) + " (" + share(node) + ")"
      + (node.c && own > 0 ? ", " + size(own) + " of it not below a shown area" : "")
      + (node.m ? ", " + size(node.m) + " of it native" : ""), make("br"));
    if (node.x) about.append(make("code", {}, node.x), make("br"));
    if (node.o) about.append("Among them: " + node.o, make("br"));
    if (node.r) about.append("These are too small to be drawn one by one: “types together” shows what they consist of.", make("br"));
    about.append(make("small", {}, names(node).slice(1).map(at => at.n).join("  ›  ")));
    if (node.a) about.append(make("br"), make("code", {}, "heapsift why " + node.a));
  };

  const zoom = node => {
    shown.zoom = node;
    shown.focus = node;
    draw();
    focus(node);
  };

  const svgNames = "http://www.w3.org/2000/svg";
  const svg = (name, attributes) => {
    const element = document.createElementNS(svgNames, name);
    for (const key in attributes) element.setAttribute(key, attributes[key]);
    return element;
  };
  const drawn = new Map();  // the element of a node

  const layout = (width, height) => {
    const top = d3.hierarchy(shown.zoom, node => node.c);
    top.eachBefore(at => { at.value = at.data.v; });
    if (shown.view === "treemap")
      d3.treemap().size([width, height]).paddingTop(at => at.depth < 6 && at.children && at.y1 - at.y0 > 34 ? 17 : 1).paddingInner(1).paddingRight(2)
        .paddingBottom(2).paddingLeft(2)(top);
    else
      d3.partition().size([width, 22 * (top.height + 1)])(top);
    return top;
  };

  function draw() {
    drawn.clear();
    const width = Math.max(box.clientWidth, 200);
    const top = layout(width, Math.min(680, Math.max(340, width * 0.55)));
    const deepest = 18;
    let height = 0;
    const picture = svg("svg", {role: "tree", "aria-label": "What retains what, from " + shown.zoom.n});
    top.eachBefore(at => {
      const [w, h] = [at.x1 - at.x0, at.y1 - at.y0];
      const least = shown.view === "treemap" ? 2.5 : 1;
      if (at.depth > deepest || !(w >= least) || !(h >= least)) { at.out = true; return; }
      if (at.parent && at.parent.out) { at.out = true; return; }
      height = Math.max(height, at.y1);
      const node = at.data;
      const group = svg("g", {role: "treeitem", tabindex: "-1", "aria-level": at.depth + 1,
        "aria-label": node.n + ", " + size(node.v) + ", " + share(node),
        class: "k-" + node.kind + (at.depth % 2 ? " odd" : "") + (shown.hits.has(node) ? " hit" : "")});
      group.append(svg("rect", {x: at.x0, y: at.y0, width: w, height: h}));
      const letters = Math.floor((w - 7) / 6.3);
      // Where there is no room for a heading, what lies inside covers it.
      const covered = shown.view === "treemap" && at.children && !(at.depth < 6 && h > 34);
      if (letters >= 3 && h >= 14 && !covered) {
        const text = svg("text", {x: at.x0 + 4, y: at.y0 + 13});
        const label = node.n + "  " + size(node.v);
        text.textContent = label.length <= letters ? label : node.n.length <= letters ? node.n : node.n.slice(0, letters - 1) + "…";
        group.append(text);
      }
      group.node = node;
      drawn.set(node, group);
      picture.append(group);
    });
    picture.setAttribute("viewBox", "0 0 " + width + " " + height);
    picture.setAttribute("height", height);
    box.replaceChildren(picture);
    box.classList.toggle("searched", shown.hits.size > 0);
    crumbs.replaceChildren(...names(shown.zoom).flatMap((node, i) => {
      const button = make("button", {type: "button"}, node.n);
      button.addEventListener("click", () => zoom(node));
      return i ? ["›", button] : [button];
    }));
    out.disabled = !shown.zoom.up;
    const first = drawn.get(shown.focus) || drawn.get(shown.zoom);
    if (first) first.setAttribute("tabindex", "0");
    tell(shown.focus);
  }

  const focus = node => {
    const element = drawn.get(node);
    if (!element) return false;
    all("g[tabindex='0']", box).forEach(other => other.setAttribute("tabindex", "-1"));
    element.setAttribute("tabindex", "0");
    element.focus({preventScroll: true});
    return true;
  };
  const areaOf = event => event.target.closest && event.target.closest("g");
  box.addEventListener("mouseover", event => { const at = areaOf(event); if (at && at.node) tell(at.node); });
  box.addEventListener("mouseleave", () => tell(shown.focus));
  box.addEventListener("focusin", event => { const at = areaOf(event); if (at && at.node) { shown.focus = at.node; tell(at.node); } });
  const into = node => {
    if (node === shown.zoom) return node.up && zoom(node.up);
    return zoom(node.c ? node : node.up);
  };
  box.addEventListener("click", event => { const at = areaOf(event); if (at && at.node) into(at.node); });
  const beside = (node, step) => {
    if (node === shown.zoom || !node.up) return null;
    const row = node.up.c.filter(child => drawn.has(child));
    return row[row.indexOf(node) + step];
  };
  box.addEventListener("keydown", event => {
    const at = areaOf(event);
    const node = at && at.node;
    if (!node) return;
    let next = null;
    switch (event.key) {
      case "ArrowRight": next = beside(node, 1); break;
      case "ArrowLeft": next = beside(node, -1); break;
      case "ArrowDown": next = (node.c || []).find(child => drawn.has(child)); break;
      case "ArrowUp": next = node === shown.zoom ? null : node.up; break;
      case "Home": next = shown.zoom; break;
      case "Enter": case " ": if (node.c) zoom(node); break;
      case "Escape": case "Backspace": if (shown.zoom.up) zoom(shown.zoom.up); break;
      default: return;
    }
    event.preventDefault();
    if (next) focus(next);
  });
  out.addEventListener("click", () => { if (shown.zoom.up) zoom(shown.zoom.up); });

  // Of areas below one another that fit, the outermost counts.
  function search() {
    const wanted = words.value.toLowerCase().trim();
    shown.hits.clear();
    hits.replaceChildren();
    found.textContent = "";
    if (wanted) {
      const outer = [];
      const look = (node, inside) => {
        const fits = [node.n, node.t, node.x, node.a, node.o].some(text => text && text.toLowerCase().includes(wanted));
        if (fits) shown.hits.add(node);
        if (fits && !inside) outer.push(node);
        for (const child of node.c || []) look(child, inside || fits);
      };
      look(trees[shown.tree], false);
      const sum = outer.reduce((bytes, node) => bytes + node.v, 0);
      found.textContent = shown.hits.size
        ? shown.hits.size + (shown.hits.size === 1 ? " area, " : " areas, ") + size(sum) + " (" + percent(sum / (trees[shown.tree].v || 1)) + ")" : "nothing found";
      outer.sort((a, b) => b.v - a.v);
      for (const node of outer.slice(0, 20)) {
        const button = make("button", {type: "button"}, size(node.v) + "  " + (node.x || names(node).slice(1).map(at => at.n).join(" › ")));
        button.addEventListener("click", () => { zoom(node.c ? node : node.up || node); focus(node); });
        hits.append(make("li", {}, button));
      }
    }
    draw();
  }
  words.addEventListener("input", search);
  words.addEventListener("keydown", event => { if (event.key === "Enter" && find("button", hits)) find("button", hits).click(); });

  let width = 0;
  new ResizeObserver(() => {
    if (box.clientWidth === width) return;
    width = box.clientWidth;
    draw();
  }).observe(box);
  draw();
})();
