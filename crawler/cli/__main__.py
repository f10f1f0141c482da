from crawler.cli import main

# The server's processes import this module again.
if __name__ == "__main__":
    main()
