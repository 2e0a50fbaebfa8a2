"""The golden corpus: releases with seeds, whose rows and certificates stay as they are until a change says why not."""
