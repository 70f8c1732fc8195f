/** Runs before each file of tests: files that one worker runs share a document. */

document.body.replaceWith(document.createElement("body"));
