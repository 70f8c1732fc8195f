/** Runs before each file of tests: files that one worker runs share a document and its storage. */

document.body.replaceWith(document.createElement("body"));
localStorage.clear();
sessionStorage.clear();
