// What is wider than its place scrolls by itself; only then does the keyboard stop there.
function reach() {
  for (const area of document.querySelectorAll(".content pre, .content .table-wrapper"))
    if (area.scrollWidth > area.clientWidth) area.tabIndex = 0;
    else area.removeAttribute("tabindex");
}
window.addEventListener("resize", reach);
reach();
